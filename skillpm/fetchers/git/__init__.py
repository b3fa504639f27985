"""Git: one shared bare repository per URL as a cache, only the needed objects, files read from the object database."""
