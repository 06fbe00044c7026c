export { getDocument, type HttpDocument } from './get-document.ts';
export { type AnswerOptions, type HttpAnswer, readAnswer } from './read-answer.ts';
export { type RequestFields, requestText } from './request-text.ts';
