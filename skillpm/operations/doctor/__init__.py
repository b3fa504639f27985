"""What is wrong here, where, and how it is repaired: works when everything else refuses."""
