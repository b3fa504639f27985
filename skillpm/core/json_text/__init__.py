"""JSON text: with a bounded number of values, with comments, and with hints at common mistakes."""
