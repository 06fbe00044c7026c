/** `podwright doctor` findings about the cluster that the node has joined. */
import { X509Certificate } from 'node:crypto';
import { existsSync } from 'node:fs';
import { request } from 'node:https';
import { errorMessage, withTimeout } from '@podwright/base';
import { findCondition, type KubeObject } from '@podwright/kube-api';
import { createKubeClient, isApiStatus, type Kubeconfig, NODES, readKubeconfig } from '@podwright/kube-client';
import { CLUSTER_PROBE_TIMEOUT_MS, NOTED_CERTIFICATE_MS, NOTED_CLOCK_SKEW_MS } from '../limits.ts';
import { type ClusterFiles, clusterFiles } from '../settings/cluster-files.ts';
import type { NodeConfig } from '../settings/node-config.ts';
import type { Finding } from './doctor-places.ts';

/** Returns the findings about the node's cluster: none if the node has not joined one. */
export async function clusterFindings(config: NodeConfig): Promise<Finding[]> {
  const files = clusterFiles(config);
  if (files === undefined) return [];
  const { kubeconfig, bootstrapKubeconfig } = files;
  const path = existsSync(kubeconfig) || bootstrapKubeconfig === undefined ? kubeconfig : bootstrapKubeconfig;
  try {
    const access = await readKubeconfig(path);
    const isFirst = path !== kubeconfig;
    const answered = await probeServer(access);
    return [
      serverFinding(access.server, answered),
      ...('dateMs' in answered ? [clockFinding(answered.dateMs, Date.now())] : []),
      isFirst
        ? firstCertificateFinding(path, answered)
        : certificateFinding((await access.tls()).certificate?.toString(), Date.now(), files),
      ...(isFirst || 'error' in answered ? [] : [await nodeFinding(access, config.node_name)]),
    ];
  } catch (error) {
    return [{ what: 'cluster', level: 'missing', message: errorMessage(error) }];
  }
}

/** Reports whether a node without a certificate can request one. Pure. */
export function firstCertificateFinding(path: string, answered: Answered): Finding {
  const what = 'certificate';
  if ('dateMs' in answered && answered.isRefused)
    return {
      what,
      level: 'missing',
      message: `none yet, and the API server rejects the token of ${path}: it has expired or belongs to another cluster`,
      fix: 'podwright join with a new token, also while the node runs',
    };
  return {
    what,
    level: 'note',
    message: 'none yet: the node requests one while it runs',
    fix: 'on the control plane: kubectl get csr; kubectl certificate approve NAME',
  };
}

/** The API server's response to a probe, or the error if there was none. `isRefused`: the server rejected the credentials. */
type Answered = { dateMs: number; isRefused: boolean } | { error: string };

/** Checks whether the API server responds and accepts the credentials, and gets its time. */
async function probeServer(access: Kubeconfig): Promise<Answered> {
  const { ca, certificate: cert, key, serverName, insecureSkipTlsVerify } = await access.tls();
  const { promise, resolve, reject } = Promise.withResolvers<Answered>();
  using signal = withTimeout(undefined, CLUSTER_PROBE_TIMEOUT_MS, `call ${access.server}`);
  const tls = { ca, cert, key, servername: serverName, rejectUnauthorized: insecureSkipTlsVerify !== true };
  const authorization = await tokenOf(access, signal);
  const headers = authorization === undefined ? {} : { authorization };
  const outgoing = request(new URL('/version', access.server), { ...tls, headers, agent: false, signal });
  outgoing.on('error', (error) => reject(signal.aborted ? signal.reason : error));
  outgoing.on('close', () => reject(new Error('it sent no HTTP response')));
  outgoing.on('response', (response) => {
    response.destroy();
    resolve({
      dateMs: Date.parse(response.headers.date ?? ''),
      isRefused: authorization !== undefined && response.statusCode === 401,
    });
  });
  outgoing.end();
  return await promise.catch((error: unknown) => ({ error: errorMessage(error) }));
}

/** Returns the kubeconfig's Authorization header, or `undefined` if its credentials cannot be read, which another finding reports. */
async function tokenOf({ authorization }: Kubeconfig, signal: AbortSignal): Promise<string | undefined> {
  try {
    return await authorization.header(signal);
  } catch {
    return undefined;
  }
}

function serverFinding(server: string, answered: Answered): Finding {
  const what = 'API server';
  if ('dateMs' in answered) return { what, level: 'ok', message: server };
  return { what, level: 'missing', message: `${server}: ${answered.error}`, fix: 'pods keep running without it' };
}

/** Reports the clock skew between this host and the API server, which may make certificates and tokens invalid. Pure. */
export function clockFinding(thereMs: number, hereMs: number): Finding {
  const what = 'clock';
  if (Number.isNaN(thereMs)) return { what, level: 'note', message: 'the API server does not send its time' };
  const seconds = Math.round((hereMs - thereMs) / 1000);
  if (Math.abs(hereMs - thereMs) < NOTED_CLOCK_SKEW_MS)
    return { what, level: 'ok', message: "within seconds of the API server's" };
  const message = `${Math.abs(seconds)} s ${seconds > 0 ? 'ahead of' : 'behind'} the API server's`;
  return { what, level: 'missing', message, fix: 'synchronize the clocks of both hosts by NTP' };
}

/** Reports whether the node's certificate is valid. Pure. */
export function certificateFinding(
  pem: string | undefined,
  nowMs: number,
  { bootstrapKubeconfig }: Pick<ClusterFiles, 'bootstrapKubeconfig'>,
): Finding {
  const what = 'certificate';
  if (pem === undefined) return { what, level: 'ok', message: 'none: the kubeconfig has other credentials' };
  const { validToDate } = new X509Certificate(pem);
  const [untilMs, until] = [validToDate.getTime(), validToDate.toISOString()];
  const fix = 'the node renews it while it runs, unless rotateCertificates is false';
  if (untilMs < nowMs)
    return {
      what,
      level: 'missing',
      message: `expired on ${until}`,
      fix:
        bootstrapKubeconfig === undefined
          ? 'podwright leave, and join with a new token'
          : `put a valid token into ${bootstrapKubeconfig} (podwright join does): the node then requests a certificate while it runs`,
    };
  if (untilMs - nowMs < NOTED_CERTIFICATE_MS) return { what, level: 'note', message: `valid until ${until}`, fix };
  return { what, level: 'ok', message: `valid until ${until}` };
}

type Node = KubeObject & { status?: { conditions?: { type?: string; status?: string; message?: string }[] } };

async function nodeFinding(access: Kubeconfig, name: string): Promise<Finding> {
  const what = 'registered';
  const client = createKubeClient(access);
  try {
    const node = await client.get<Node>(NODES, { name }, { timeoutMs: CLUSTER_PROBE_TIMEOUT_MS });
    const ready = findCondition(node.status?.conditions, 'Ready');
    if (ready?.status === 'True') return { what, level: 'ok', message: `${name}, ready` };
    return { what, level: 'note', message: `${name}, not ready: ${ready?.message ?? 'it has reported no status yet'}` };
  } catch (error) {
    if (isApiStatus(error, 404))
      return { what, level: 'note', message: `no node ${name}`, fix: 'it registers itself while it runs' };
    return { what, level: 'missing', message: errorMessage(error) };
  } finally {
    client.close();
  }
}
