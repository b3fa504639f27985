"""The rules, one module for each family: the data of its rules, and the function that applies them."""
