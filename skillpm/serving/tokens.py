"""What text costs a model, estimated: four bytes of UTF-8 a token. Pure."""


def tokens_in(text: str) -> int:
    """Give about how many tokens a text has."""
    return (len(text.encode("utf-8", "replace")) + 3) // 4
