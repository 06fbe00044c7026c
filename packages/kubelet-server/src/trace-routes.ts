import type { Kubelet } from '@podwright/kubelet';
import type { ApiRoute } from './api-route.ts';
import { sendJsonText } from './http/api-call.ts';

/**
 * `/podwright/v1/traces/UID` returns the steps of a pod's startups (`TraceSpan[]`), including those in progress. Upstream's kubelet does
 * not have this path. It is authorized by `nodes/proxy`, like `exec`, because the steps' error messages may contain information that other
 * users must not see.
 */
export function traceRoutes(kubelet: Pick<Kubelet, 'traces'>): ApiRoute[] {
  const answers = new SharedAnswers((uid) => kubelet.traces(uid));
  return [
    {
      methods: ['GET'],
      path: '/podwright/v1/traces/:uid',
      access: 'debug',
      handler: async ({ response, params }) => sendJsonText(response, await answers.of(params.uid!)),
    },
  ];
}

/**
 * Computes responses by key. Concurrent requests for the same key share one computation, because each one has to fetch the container
 * runtime's spans.
 */
class SharedAnswers {
  readonly #make: (key: string) => Promise<object>;
  readonly #running = new Map<string, Promise<string>>();

  constructor(make: (key: string) => Promise<object>) {
    this.#make = make;
  }

  of(key: string): Promise<string> {
    const running = this.#running.get(key);
    if (running !== undefined) return running;
    const made = this.#make(key)
      .then((value) => JSON.stringify(value))
      .finally(() => this.#running.delete(key));
    this.#running.set(key, made);
    return made;
  }
}
