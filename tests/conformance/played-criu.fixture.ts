import { chmodSync, mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

/** Debian's; the played one has its name, and would find itself. */
const runc = '/usr/sbin/runc';

/**
 * Passes everything on to runc, but the checkpoint: it is kept as it was asked for, with the state that the task was in. The
 * files `fail` and `hang` beside it let the next one do so.
 */
const playedRuntime = (directory: string) => `#!/bin/sh
case " $* " in
*" checkpoint "*)
  while [ $# -gt 0 ]; do
    case "$1" in
    --root) root=$2; shift ;;
    --image-path) images=$2; shift ;;
    --work-path) work=$2; shift ;;
    esac
    last=$1; shift
  done
  if [ -e ${directory}/fail ]; then
    echo '(00.1) Error (criu/mem.c:1): too much memory' > "$work/dump.log"
    echo '(00.2) Error (criu/cr-dump.c:1): Dumping FAILED.' >> "$work/dump.log"
    printf '%s\\n' 'time="x" level=error msg="criu failed: type DUMP errno 0\\nlog file: '"$work"'/dump.log"' >&2
    exit 1
  fi
  ${runc} --root "$root" state "$last" > "$images/state.json"
  echo played > "$work/dump.log"
  [ ! -e ${directory}/hang ] || { echo $$ > ${directory}/hangs; exec sleep 1000; }
  exit 0 ;;
esac
exec ${runc} "$@"
`;

/** Writes an OCI runtime that plays CRIU, and returns its path. */
export function writePlayedRunc(directory: string): string {
  return writeProgram(directory, 'runc', playedRuntime(directory));
}

/** Writes what is looked for in PATH as CRIU. */
export function writePlayedCriu(directory: string): string {
  return writeProgram(directory, 'criu', '#!/bin/sh\n');
}

function writeProgram(directory: string, name: string, text: string): string {
  const path = join(directory, name);
  mkdirSync(directory, { recursive: true });
  writeFileSync(path, text);
  chmodSync(path, 0o755);
  return path;
}
