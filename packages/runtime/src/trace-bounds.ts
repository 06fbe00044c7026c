/**
 * Maximum number of stored traces and spans. A span takes about 300 bytes, so clients that trace every call cost a few MB. The
 * start of a pod with two containers and a pulled image of ten layers has about sixty spans.
 */
export const TRACE_BOUNDS = { traces: 200, spansPerTrace: 100 };
