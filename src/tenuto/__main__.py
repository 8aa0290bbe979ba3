"""`python -m tenuto` is `tenuto`."""

from tenuto.cli import main

if __name__ == "__main__":
    main()
