/**
 * Runs a command through the streaming URL given as an argument. In a separate process, because trusted certificates apply to the whole
 * process.
 */
import { errorMessage } from '@podwright/base';
import { runRemoteCommand } from '@podwright/streaming';

try {
  const io = { stdout: process.stdout, stderr: process.stderr, tty: false };
  process.exitCode = await runRemoteCommand({ url: process.argv[2]! }, io);
} catch (error) {
  console.error(errorMessage(error));
  process.exitCode = 1;
}
