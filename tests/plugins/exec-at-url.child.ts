/** Runs the command of the streaming URL in its argument. A separate process, because trusted certificates apply to a whole process. */
import { errorMessage } from '@podwright/base';
import { runRemoteCommand } from '@podwright/streaming';

try {
  const io = { stdout: process.stdout, stderr: process.stderr, tty: false };
  process.exitCode = await runRemoteCommand({ url: process.argv[2]! }, io);
} catch (error) {
  console.error(errorMessage(error));
  process.exitCode = 1;
}
