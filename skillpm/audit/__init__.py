"""Rules over the content of a skill: what its files say and do that a reviewer should see before an agent reads them.

Everything here is a pure function of the bytes and paths of a `FileTree`; nothing of a skill is executed. An empty
result proves nothing: the rules find what is written, not what it means.
"""
