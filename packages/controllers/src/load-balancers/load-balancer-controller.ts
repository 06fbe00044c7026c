import { isIP } from 'node:net';
import { hostPorts, type Node, type Pod } from '@podwright/kube-api';
import { isApiStatus, NODES, PODS, SERVICES } from '@podwright/kube-client';
import type { Controller } from '../framework/controller.ts';
import type { ObjectCache } from '../framework/object-cache.ts';
import { untilSynced } from '../framework/until-synced.ts';
import { WorkQueue } from '../framework/work-queue.ts';
import { writeStatus } from '../framework/write-status.ts';
import type { Service } from '../objects/service.ts';
import { isEnded } from '../pods/pod-state.ts';
import { subjectOf } from '../pods/pod-writer.ts';
import { decideLoadBalancers } from './decide-load-balancers.ts';

/** Retry interval for Services whose ports are in use, in milliseconds. */
const RETRY_MS = 30_000;

export type LoadBalancerOptions = {
  /** The node whose addresses the Services get. Its Service proxy must serve these addresses. */
  nodeName: string;
  /**
   * Finds out on which ports the node's processes listen on any of `addresses`. Returns a function that reports whether they listen on a
   * given port. Called once for all Services, because they might have many ports.
   */
  readListeners: (addresses: readonly string[]) => (port: number, protocol: string) => boolean;
};

/** Assigns the addresses of a node to LoadBalancer Services, like ServiceLB in k3s. */
export function nodeLoadBalancer({ nodeName, readListeners }: LoadBalancerOptions): Controller {
  return async (parts) => {
    const { objects, events, logger, signal } = parts;
    const services = objects.of<Service>(SERVICES);
    const nodes = objects.of<Node>(NODES);
    const pods = objects.of<Pod>(PODS);
    if (!(await untilSynced(services, nodes, pods))) return;
    const recorder = events('service-controller');
    const problems = new Map<string, string>();
    const sync = async (key: string) => {
      const held = heldPorts(pods, nodeName);
      const addresses = addressesOf(nodes.get({ name: nodeName }));
      const isListening = readListeners(addresses);
      const holderOf = (port: number, protocol: string) =>
        held.get(`${port}/${protocol}`) ?? (isListening(port, protocol) ? 'a program of the node' : undefined);
      const changes = decideLoadBalancers({ services: services.list(), addresses, holderOf });
      for (const { service, ingress, problem } of changes) {
        const { uid } = service.metadata;
        const subject = subjectOf(SERVICES, service);
        if (problem !== undefined && problems.get(uid) !== problem)
          recorder.event(subject, 'Warning', 'SyncLoadBalancerFailed', `Error syncing load balancer: ${problem}`);
        if (problem === undefined) problems.delete(uid);
        else problems.set(uid, problem);
        if (ingress === undefined) continue;
        const status = { ...service.status, loadBalancer: ingress.length === 0 ? {} : { ingress } };
        await writeStatus(parts, SERVICES, { ...service, status }).catch((error: unknown) => {
          if (!isApiStatus(error, 404)) throw error;
        });
        if (ingress.length > 0) recorder.event(subject, 'Normal', 'EnsuredLoadBalancer', 'Ensured load balancer');
      }
      if (changes.some(({ problem }) => problem !== undefined)) queue.addAfter(key, RETRY_MS);
    };
    const failure = 'failed to set the addresses of load balancers';
    const queue: WorkQueue = new WorkQueue({ sync, failure, maxRetryMs: RETRY_MS, logger, signal });
    services.onChange(({ type, object }) => {
      if (type === 'DELETED') problems.delete(object.metadata.uid);
      if (object.spec.type === 'LoadBalancer' || problems.size > 0) queue.add('services');
    });
    nodes.onChange(({ object, before }) => {
      if (object.metadata.name !== nodeName) return;
      if (addressesOf(object).join() !== addressesOf(before).join()) queue.add('services');
    });
    await queue.ended;
  };
}

/** Returns the node's first internal address of each IP family. */
function addressesOf(node: Node | undefined): string[] {
  const internal = (node?.status?.addresses ?? []).filter(({ type }) => type === 'InternalIP');
  return [4, 6].flatMap((version) => internal.find(({ address }) => isIP(address) === version)?.address ?? []);
}

function heldPorts(pods: ObjectCache<Pod>, nodeName: string): Map<string, string> {
  const own = pods.list().filter((pod) => pod.spec.nodeName === nodeName && !isEnded(pod));
  return new Map(
    own.flatMap((pod) =>
      hostPorts(pod).map(({ port, protocol }) => [
        `${port}/${protocol}`,
        `the pod ${pod.metadata.namespace}/${pod.metadata.name}`,
      ]),
    ),
  );
}
