import { errorCode, errorMessage } from '@podwright/base';
import { asRpcError } from '@podwright/grpc';
import type { WaitingReason } from '../kubecontainer/sync-result.ts';
import { MAX_PULL_ERROR_LENGTH } from './limits.ts';

/** Prefixes of container runtime errors (cri-api, pkg/errors), and upstream's message for each. */
const KNOWN = {
  RegistryUnavailable: 'the registry is unavailable',
  SignatureValidationFailed: 'the signature validation failed',
};

/** Returns the event message for a failed pull and the container's waiting reason. */
export function pullFailure(image: string, error: unknown): { text: string; waiting: WaitingReason } {
  const text = errorText(error).slice(0, MAX_PULL_ERROR_LENGTH);
  for (const [reason, because] of Object.entries(KNOWN)) {
    if (!text.startsWith(reason)) continue;
    const message = `image pull failed for ${image} because ${because}${text.slice(reason.length)}`;
    return { text, waiting: { reason, message } };
  }
  return { text, waiting: { reason: 'ErrImagePull', message: text } };
}

/** Joins the errors from several credentials like upstream, without duplicates. The error code `unknown` is omitted. */
function errorText(error: unknown): string {
  if (!(error instanceof AggregateError))
    return errorMessage(errorCode(error) === 'unknown' ? error : asRpcError(error));
  const texts = [...new Set(error.errors.map(errorText))];
  return texts.length === 1 ? texts[0]! : `[${texts.join(', ')}]`;
}
