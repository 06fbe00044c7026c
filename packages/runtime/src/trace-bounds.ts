/**
 * How much is known of traced calls: a span takes some 300 bytes, so that clients that trace every call cost a few MB. A pod's
 * start with two containers and a pulled image of ten layers has about sixty.
 */
export const TRACE_BOUNDS = { traces: 200, spansPerTrace: 100 };
