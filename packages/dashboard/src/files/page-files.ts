/** A file of the page, compressed by gzip. */
export type PageFile = { type: string; gzipped: Buffer };

/** The files of the page by their path: `/`, and `/assets/NAME`. */
export type PageFiles = ReadonlyMap<string, PageFile>;

const TYPES: Record<string, string> = {
  html: 'text/html; charset=utf-8',
  js: 'text/javascript; charset=utf-8',
  css: 'text/css; charset=utf-8',
  svg: 'image/svg+xml',
};

/** Returns the media type of a file of the page. Throws for a kind that the page does not have. */
export function typeOf(name: string): string {
  const type = TYPES[name.slice(name.lastIndexOf('.') + 1)];
  if (type === undefined) throw new Error(`the type of ${name} is unknown`);
  return type;
}
