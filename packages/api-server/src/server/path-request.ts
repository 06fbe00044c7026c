import type { PathResponse } from '@podwright/api-documents';
import { type HttpExchange, headerOf } from '../wire/http-exchange.ts';
import type { ResponseWriter } from '../wire/response-writer.ts';
import type { RequestInfo } from './request-info.ts';
import type { PathDocuments } from './server-parts.ts';

type PathCall = { exchange: HttpExchange; writer: ResponseWriter; info: RequestInfo; documents: PathDocuments };

/** Responds to a non-resource request. */
export async function respondToPath({ exchange, writer, info, documents }: PathCall): Promise<void> {
  const { request, query } = exchange;
  const header = (name: string) => headerOf(request, name);
  await sendPath(writer, await documents.respond({ method: request.method ?? '', path: info.path, query, header }));
}

/** Sends a document or plain text. */
export async function sendPath(writer: ResponseWriter, { status, headers, body }: PathResponse): Promise<void> {
  const { 'content-type': contentType = '', ...others } = headers;
  await writer.bytes(status, { contentType, parts: [typeof body === 'string' ? Buffer.from(body) : body] }, others);
}
