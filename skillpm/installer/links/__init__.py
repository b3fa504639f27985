"""Links to and copies of installed skills in the folders of agent hosts."""
