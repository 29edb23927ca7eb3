"""Who did what, when and from where. Written in the transaction of the change it describes."""
