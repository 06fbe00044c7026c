/** A file of the page: its media type and gzip-compressed content. */
export type PageFile = { type: string; gzipped: Buffer };

/** The files of the page by path: the document at `/`, all others at `/assets/NAME`. */
export type PageFiles = ReadonlyMap<string, PageFile>;

const TYPES: Record<string, string> = {
  html: 'text/html; charset=utf-8',
  js: 'text/javascript; charset=utf-8',
  css: 'text/css; charset=utf-8',
  svg: 'image/svg+xml',
};

/** Returns the media type of one of the page's files, based on its extension. Throws for unknown extensions. */
export function typeOf(name: string): string {
  const type = TYPES[name.slice(name.lastIndexOf('.') + 1)];
  if (type === undefined) throw new Error(`${name}: no media type is known for this extension`);
  return type;
}
