from fqc.app import main

main()
