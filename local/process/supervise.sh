#!/bin/sh
# Runs one long-lived command and never lets it outlive whoever started it.
#
#   supervise.sh LOG REMOVE COMMAND [ARGUMENT...]
#
# LOG     file that the command's output is appended to
# REMOVE  folder to remove when the starter closed stdin, or "" for none
#
# The first line on stdout is the command's pid. The starter holds the other end of stdin: when it closes, because the
# starter asked for it or because it was killed, the command gets SIGTERM, and SIGKILL 5 seconds later.
log=$1
remove=$2
shift 2
exec 3<&0
"$@" </dev/null >>"$log" 2>&1 3<&- &
child=$!
echo "$child"
exec >/dev/null 2>&1
(
  while read -r _ <&3; do :; done
  # Set before the signal, so that whoever waits for the command finds it.
  if [ -n "$remove" ]; then : >"$remove/.remove"; fi
  kill -TERM "$child"
  turns=0
  while kill -0 "$child" && [ "$turns" -lt 50 ]; do
    sleep 0.1
    turns=$((turns + 1))
  done
  kill -KILL "$child"
) &
watcher=$!
exec 3<&-
wait "$child"
code=$?
kill "$watcher"
if [ -n "$remove" ] && [ -e "$remove/.remove" ]; then rm -rf -- "$remove"; fi
exit "$code"
