"""Rules over metrics, incidents, silences and the mail they send."""
