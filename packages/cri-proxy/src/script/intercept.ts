import { type Message, toBinary } from '@bufbuild/protobuf';
import { errorCodeOfStatus, PodwrightError } from '@podwright/base';
import type { Backend } from '../exchange/backend.ts';
import { answerOf, failedAnswer } from '../exchange/made-answer.ts';
import { statusOf } from '../exchange/status.ts';
import type { CriMethod } from '../methods/cri-methods.ts';
import { decodeMessage } from '../methods/decode.ts';

/** A decoded unary call of a known method, including its secrets. */
export type InterceptedCall = { method: CriMethod; request: Message };

/**
 * Responds to a call. `forward` sends it to the runtime, and rejects with a `PodwrightError` if it fails. For tests that scripts cannot
 * express.
 */
export type Intercept = (call: InterceptedCall, forward: () => Promise<Message>) => Promise<Message>;

/** Returns a backend that passes unary calls of known methods to a function, and other calls to the original backend. */
export function interceptedBackend(
  backend: Backend,
  { intercept, methods }: { intercept: Intercept; methods: ReadonlyMap<string, CriMethod> },
): Backend {
  return async (call) => {
    const method = methods.get(call.path);
    const request = method && call.message && decodeMessage(method.input, call.message);
    if (method?.kind !== 'unary' || request === undefined) return await backend(call);
    const forward = async () => {
      const { messages, end } = await backend(call);
      let answer: Message | undefined;
      for await (const message of messages) answer = decodeMessage(method.output, message);
      const { code, message } = statusOf(await end());
      if (code !== 0) throw new PodwrightError(errorCodeOfStatus(code), message);
      if (answer === undefined) throw new PodwrightError('internal', `${method.name}: the answer cannot be read`);
      return answer;
    };
    try {
      const answer = await intercept({ method, request }, forward);
      return answerOf(once(toBinary(method.output, answer)));
    } catch (error) {
      return failedAnswer(error);
    }
  };
}

async function* once(bytes: Uint8Array) {
  yield bytes;
}
