"""The line to a provider: dialled, read within limits, closed at once; and what comes over it, made safe."""
