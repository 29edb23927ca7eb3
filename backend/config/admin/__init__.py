"""`fqc-admin`: what the owner of an installation does on its machine. Everybody else uses the API."""
