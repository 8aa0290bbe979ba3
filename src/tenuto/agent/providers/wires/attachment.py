"""Files that go out as they are, encoded: what is here has been fitted to its model before."""

import base64

from tenuto.ports.model import FileBlock


def is_image(file: FileBlock) -> bool:
    return file.media_type.startswith("image/")


def base64_of(file: FileBlock) -> str:
    return base64.b64encode(file.content).decode("ascii")


def data_url(file: FileBlock) -> str:
    return f"data:{file.media_type};base64,{base64_of(file)}"
