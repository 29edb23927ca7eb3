"""What a parameter of an engine line may be: type, unit, range, default, restart."""
