/** Decodes a `grpc-message`, which is percent-encoded UTF-8. Text with an invalid encoding is returned unchanged. */
export function decodeStatusMessage(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}
