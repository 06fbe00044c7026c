/** The only logging driver whose files kubelets read themselves. */
const CRI_LOG_DRIVER = 'json-file';

/** Whether logs of this driver are linked into the CRI's place; others are read through the Engine. */
export function isCriLogDriver(driver: string): boolean {
  return driver === CRI_LOG_DRIVER;
}
