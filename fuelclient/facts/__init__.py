"""Compute the deployment facts of an environment without a Fuel master: what conditions and parameters of tasks read.

Pure, with one module for each group of keys. Source: Nailgun's deployment info, reproduced for releases from 9.0 on.
"""
