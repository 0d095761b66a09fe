//! Nothing: the programs stand beside this file.
