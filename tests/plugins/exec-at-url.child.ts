/** Runs the command at a streaming URL, which is the argument; a process of its own, as trust is set for a whole process. */
import { errorMessage } from '@podwright/base';
import { runRemoteCommand } from '@podwright/streaming';

try {
  const io = { stdout: process.stdout, stderr: process.stderr, tty: false };
  process.exitCode = await runRemoteCommand({ url: process.argv[2]! }, io);
} catch (error) {
  console.error(errorMessage(error));
  process.exitCode = 1;
}
