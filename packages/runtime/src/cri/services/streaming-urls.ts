import type { AttachRequest, ExecRequest, PortForwardRequest } from '@podwright/cri';

/**
 * Gives out the URLs at which exec, attach and port-forward are streamed; each is good once and for a short time. The ids in
 * the requests are whole ids of containers that run and sandboxes that are ready.
 */
export interface StreamingUrls {
  exec(request: ExecRequest): Promise<string>;
  attach(request: AttachRequest): Promise<string>;
  portForward(request: PortForwardRequest): Promise<string>;
}
