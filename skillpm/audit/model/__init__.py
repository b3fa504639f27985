"""What a rule is, and a finding."""
