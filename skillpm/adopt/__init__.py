"""What was there before skillpm: flat files, and skills that other tools installed."""
