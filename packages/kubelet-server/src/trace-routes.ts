import { SharedWork } from '@podwright/base';
import type { Kubelet } from '@podwright/kubelet';
import type { ApiRoute } from './api-route.ts';
import { sendJsonText } from './http/api-call.ts';

/**
 * `/podwright/v1/traces/UID` returns the steps of a pod's startups (`TraceSpan[]`), including those in progress. Upstream's kubelet does
 * not have this path. It is authorized by `nodes/proxy`, like `exec`, because the steps' error messages may contain information that other
 * users must not see.
 */
export function traceRoutes(kubelet: Pick<Kubelet, 'traces'>): ApiRoute[] {
  // concurrent requests for a pod share one answer, because each has to fetch the container runtime's spans
  const answers = new SharedWork();
  const answer = async (uid: string) => JSON.stringify(await kubelet.traces(uid));
  return [
    {
      methods: ['GET'],
      path: '/podwright/v1/traces/:uid',
      access: 'debug',
      handler: async ({ response, params: { uid = '' }, signal }) =>
        sendJsonText(response, await answers.run({ key: uid }, signal, () => answer(uid))),
    },
  ];
}
