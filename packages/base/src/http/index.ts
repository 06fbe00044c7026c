export { getDocument } from './get-document.ts';
export { readAnswer } from './read-answer.ts';
export { type RequestFields, requestText } from './request-text.ts';
