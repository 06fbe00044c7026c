import assert from 'node:assert/strict';
import { test } from 'node:test';
import { runtimeErrorCode, runtimeMessage } from './runtime-error.ts';

test('the OCI runtime’s error message is extracted from stderr and determines the error code', () => {
  const check = (output: string, message: string, code: string) => {
    assert.equal(runtimeMessage(output), message);
    assert.equal(runtimeErrorCode(message), code);
  };
  check(
    'time="2026-11-21T03:37:34Z" level=error msg="runc create failed: unable to start container process: exec: \\"nope\\": executable file not found in $PATH"\n',
    'runc create failed: unable to start container process: exec: "nope": executable file not found in $PATH',
    'not_found',
  );
  check(
    'time="t" level=warning msg="odd"\ntime="t" level=error msg="exec: \\"/nope\\": stat /nope: no such file or directory"\n',
    'exec: "/nope": stat /nope: no such file or directory',
    'not_found',
  );
  check(
    '\x1b[0;31mexecutable file `nope` not found in $PATH: No such file or directory\x1b[0m\n\x1b[0m',
    'executable file `nope` not found in $PATH: No such file or directory',
    'not_found',
  );
  check('container `x` does not exist: already gone\n', 'container `x` does not exist: already gone', 'not_found');
  check(
    'time="t" level=error msg="exec: \\"/etc\\": permission denied"',
    'exec: "/etc": permission denied',
    'permission_denied',
  );
  const directory = 'open executable: Operation not permitted'; // crun's message for a directory
  check(directory, directory, 'permission_denied');
  check('cannot exec in a stopped container', 'cannot exec in a stopped container', 'failed_precondition');
  check('unknown command checkpoint\n', 'unknown command checkpoint', 'unimplemented'); // crun without CRIU
  check('2026-11-21T03:37:34.1Z: writing file `/x`: No space left', 'writing file `/x`: No space left', 'internal');
  check('', '', 'internal');
});
