"""How good the changes are that `chathpc fix` finds, measured on tasks whose best known answer lies beside them."""
