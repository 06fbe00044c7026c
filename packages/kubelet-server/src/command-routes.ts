import { join } from 'node:path';
import { makePrivateDirectory } from '@podwright/base';
import { rpcErrorText } from '@podwright/grpc';
import { formatTime } from '@podwright/kube-api';
import type { Kubelet } from '@podwright/kubelet';
import { type ApiCall, type ApiRoute, sendText } from './api-route.ts';
import { sendJson } from './http/api-call.ts';
import { MAX_RUN_MS } from './limits.ts';
import { containerOf, fullName, runningContainer } from './pod-lookup.ts';

/**
 * `/run/…?cmd=` runs a command in a container and returns its output. `/checkpoint/…` makes the container runtime checkpoint a container to
 * a file.
 */
export function commandRoutes(kubelet: Kubelet): ApiRoute[] {
  const post = (path: string, handler: ApiRoute['handler']): ApiRoute => ({
    methods: ['POST'],
    path,
    access: 'debug',
    handler,
  });
  return [
    post('/run/:namespace/:pod/:container', (call) => run(kubelet, call)),
    post('/run/:namespace/:pod/:uid/:container', (call) => run(kubelet, call)),
    post('/checkpoint/:namespace/:pod/:container', (call) => checkpoint(kubelet, call)),
  ];
}

async function run(kubelet: Kubelet, { request, response, query, params, signal }: ApiCall): Promise<void> {
  const { namespace = '', pod: name = '', uid, container = '' } = params;
  const pod = kubelet.findPod(namespace, name);
  if (pod === undefined) return sendText(response, 404, 'pod does not exist');
  const running = runningContainer(kubelet, pod, { uid, container });
  if (running === undefined) return sendText(response, 500, `container not found (${JSON.stringify(container)})`);
  const cmd = (query.get('cmd') ?? '').split(' ');
  request.socket.setTimeout(0); // a command may run for long without output; MAX_RUN_MS bounds it
  const work = kubelet.cri.runtime.execSync({ containerId: running.id, cmd }, { signal, timeoutMs: MAX_RUN_MS });
  const result = await work.catch((error: unknown) => ({ refused: rpcErrorText(error) }));
  if ('refused' in result) return sendText(response, 500, result.refused);
  const { exitCode, stdout, stderr } = result;
  if (exitCode !== 0) {
    const words = `command '${cmd.join(' ')}' exited with ${exitCode}: ${Buffer.from(stderr).toString()}`;
    return sendText(response, 500, words);
  }
  response.writeHead(200, { 'content-type': 'application/json' }).end(Buffer.concat([stdout, stderr]));
}

async function checkpoint(kubelet: Kubelet, { response, query, params, signal }: ApiCall): Promise<void> {
  const { namespace = '', pod: name = '', container = '' } = params;
  const pod = kubelet.findPod(namespace, name);
  if (pod === undefined) return sendText(response, 404, 'pod does not exist');
  if (containerOf(pod, container) === undefined)
    return sendText(response, 404, `container ${container} does not exist`);
  const timeout = query.getAll('timeout').at(-1) ?? '0';
  if (!/^[-+]?\d{1,15}$/.test(timeout)) return sendText(response, 404, 'cannot parse value of timeout parameter');
  const failed = (why: string) =>
    sendText(response, 500, `checkpointing of ${namespace}/${name}/${container} failed (${why})`);
  const running = runningContainer(kubelet, pod, { container });
  if (running === undefined) return failed(`container ${container} not found`);
  const directory = join(kubelet.options.rootDir, 'checkpoints');
  makePrivateDirectory(directory);
  const location = join(directory, `checkpoint-${fullName(pod)}-${container}-${formatTime(Date.now())}.tar`);
  const request = { containerId: running.id, location, timeout: BigInt(timeout) };
  try {
    await kubelet.cri.runtime.checkpointContainer(request, { signal });
  } catch (error) {
    return failed(rpcErrorText(error));
  }
  sendJson(response, { items: [location] });
}
