/** Creates service account tokens: POST of a TokenRequest to `serviceaccounts/NAME/token`. */
import type { Admission, AdmissionAttributes } from '@podwright/api-machinery';
import { requestToken, type TokenRequestParts } from '../authentication/token-request.ts';
import { contextOf, encodingOf, placeOf } from '../server/resource-request.ts';
import type { SubresourceHandler } from '../server/server-parts.ts';
import { readObject } from '../server/write-requests.ts';
import { negotiateObject } from '../wire/negotiation.ts';
import { writeOptions } from '../wire/write-options.ts';
import { createAttributes } from './admitted-object.ts';

export function tokenHandler(parts: TokenRequestParts, admission: Admission): SubresourceHandler {
  return async (request) => {
    const { exchange, writer } = request;
    const encoding = encodingOf(request, negotiateObject(exchange));
    const options = writeOptions('CreateOptions', exchange.query);
    const object = await readObject(request, options.fieldValidation);
    const context = contextOf(request, options);
    const place = placeOf(request);
    const fields = createAttributes(request, place.name, context);
    const attributes = (given: typeof object): AdmissionAttributes => ({ ...fields, object: given });
    const created = await requestToken(parts, {
      ...place,
      object,
      warn: context.warn,
      admission: {
        mutate: async (given) => (await admission.mutate(attributes(given))) ?? given,
        validate: async (given) => {
          await admission.validate(attributes(given));
          context.authorizeAgain?.();
        },
      },
    });
    await writer.object(201, created, encoding);
  };
}
