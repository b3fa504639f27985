"""The policies in effect: explain them, refresh published ones, and publish them."""
