"""Operations behind the commands. They combine the lower layers and return values; none of them prints."""
