import type { CriClient } from '@podwright/cri';
import type { StreamOptions } from '@podwright/kubelet';

/** A stream to open in the container runtime, which identifies its container or sandbox by the given ID. */
export type RuntimeStream =
  | { kind: 'exec'; containerId: string; command: string[]; choice: StreamOptions }
  | { kind: 'attach'; containerId: string; choice: StreamOptions }
  | { kind: 'portForward'; sandboxId: string; ports: number[] };

/** Requests a stream's URL from the container runtime. Rejects with the runtime's error. */
export async function streamUrl({ runtime }: CriClient, stream: RuntimeStream): Promise<string> {
  if (stream.kind === 'portForward') {
    const { sandboxId: podSandboxId, ports: port } = stream;
    return (await runtime.portForward({ podSandboxId, port })).url;
  }
  const { stdin, stdout, stderr, tty } = stream.choice;
  const request = { containerId: stream.containerId, stdin, stdout, stderr, tty };
  if (stream.kind === 'attach') return (await runtime.attach(request)).url;
  return (await runtime.exec({ ...request, cmd: stream.command })).url;
}
