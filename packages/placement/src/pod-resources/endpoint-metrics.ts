/** Pod resources API metrics, named as in upstream. */
import { Counter, type Registry } from '@podwright/base';

type OfVersion = Counter<'server_api_version'>;
type Verb = 'list' | 'get' | 'get_allocatable';

/** Counts a request, and an error if `answer` throws. */
export type EndpointMetrics = <T>(verb: Verb, answer: () => T) => T;

const METHODS: Record<Verb, string> = { list: 'List', get: 'Get', get_allocatable: 'GetAllocatableResources' };
const VERBS = Object.keys(METHODS) as Verb[];
const VERSION = { server_api_version: 'v1' };

export function endpointMetrics(registry: Registry): EndpointMetrics {
  const counter = (name: string, help: string) =>
    new Counter({
      name: `kubelet_pod_resources_endpoint_${name}`,
      help: `${help}. Broken down by server api version.`,
      labelNames: ['server_api_version'],
      registers: [registry],
    });
  const all = counter('requests_total', 'Cumulative number of requests to the PodResource endpoint');
  const each = VERBS.map((verb) => {
    const to = `to the PodResource ${METHODS[verb]} endpoint`;
    const requests = counter(`requests_${verb}`, `Number of requests ${to}`);
    return [
      verb,
      { requests, errors: counter(`errors_${verb}`, `Number of requests ${to} which returned error`) },
    ] as const;
  });
  const of = Object.fromEntries(each) as Record<Verb, { requests: OfVersion; errors: OfVersion }>;
  return (verb, answer) => {
    all.inc(VERSION);
    of[verb].requests.inc(VERSION);
    try {
      return answer();
    } catch (error) {
      of[verb].errors.inc(VERSION);
      throw error;
    }
  };
}
