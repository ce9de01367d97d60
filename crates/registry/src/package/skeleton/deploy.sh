#!/bin/sh
# Runs on each node of the task, in the folder of this script: all of deployment_scripts/ is copied to the node before.
set -eu
echo "{name}: $*"
