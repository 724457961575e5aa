"""The types of google-genai content parts that Carob validates and keeps but does not interpret."""

from __future__ import annotations

from typing import Any, Literal

from carob.datasets.document_types import Base64, ClosedDocument


class MediaResolution(ClosedDocument):
    level: str | None = None
    num_tokens: int | None = None


class CodeExecutionResult(ClosedDocument):
    outcome: str | None = None
    output: str | None = None
    id: str | None = None


class ExecutableCode(ClosedDocument):
    code: str | None = None
    language: str | None = None
    id: str | None = None


class FileData(ClosedDocument):
    display_name: str | None = None
    file_uri: str | None = None
    mime_type: str | None = None


class Blob(ClosedDocument):
    data: Base64 | None = None
    display_name: str | None = None
    mime_type: str | None = None


class VideoMetadata(ClosedDocument):
    end_offset: str | None = None
    fps: float | None = None
    start_offset: str | None = None


class PartToolCall(ClosedDocument):
    id: str | None = None
    tool_type: str | None = None
    args: dict[str, Any] | None = None


class PartToolResponse(ClosedDocument):
    id: str | None = None
    tool_type: str | None = None
    response: dict[str, Any] | None = None


class WordInfo(ClosedDocument):
    word: str | None = None
    start_offset: str | None = None
    end_offset: str | None = None


class Transcription(ClosedDocument):
    text: str | None = None
    finished: bool | None = None
    language_code: str | None = None
    speaker_label: str | None = None
    words: list[WordInfo] | None = None
    start_offset: str | None = None
    end_offset: str | None = None


class SpeechMetadata(ClosedDocument):
    speaker: str | None = None
    style: str | None = None


class PartialArg(ClosedDocument):
    bool_value: bool | None = None
    json_path: str | None = None
    null_value: Literal["NULL_VALUE"] | None = None
    number_value: float | None = None
    string_value: str | None = None
    will_continue: bool | None = None


class ResponseBlob(ClosedDocument):
    mime_type: str | None = None
    data: Base64 | None = None
    display_name: str | None = None


class ResponseFile(ClosedDocument):
    file_uri: str | None = None
    mime_type: str | None = None
    display_name: str | None = None


class ResponsePart(ClosedDocument):
    inline_data: ResponseBlob | None = None
    file_data: ResponseFile | None = None
    media_processing: str | None = None


class ImageChunk(ClosedDocument):
    source_uri: str | None = None
    image_uri: str | None = None
    title: str | None = None
    domain: str | None = None


class Attribution(ClosedDocument):
    display_name: str | None = None
    photo_uri: str | None = None
    uri: str | None = None


class ReviewSnippet(ClosedDocument):
    author_attribution: Attribution | None = None
    flag_content_uri: str | None = None
    google_maps_uri: str | None = None
    relative_publish_time_description: str | None = None
    review: str | None = None
    review_id: str | None = None
    title: str | None = None


class AnswerSources(ClosedDocument):
    review_snippet: list[ReviewSnippet] | None = None
    flag_content_uri: str | None = None
    review_snippets: list[ReviewSnippet] | None = None


class Route(ClosedDocument):
    distance_meters: int | None = None
    duration: str | None = None
    encoded_polyline: str | None = None


class MapsChunk(ClosedDocument):
    place_answer_sources: AnswerSources | None = None
    place_id: str | None = None
    text: str | None = None
    title: str | None = None
    uri: str | None = None
    route: Route | None = None


class PageSpan(ClosedDocument):
    first_page: int | None = None
    last_page: int | None = None


class RagChunk(ClosedDocument):
    page_span: PageSpan | None = None
    text: str | None = None
    chunk_id: str | None = None
    file_id: str | None = None


class StringList(ClosedDocument):
    values: list[str] | None = None


class CustomMetadata(ClosedDocument):
    key: str | None = None
    numeric_value: float | None = None
    string_list_value: StringList | None = None
    string_value: str | None = None


class RetrievedContext(ClosedDocument):
    document_name: str | None = None
    rag_chunk: RagChunk | None = None
    text: str | None = None
    title: str | None = None
    uri: str | None = None
    custom_metadata: list[CustomMetadata] | None = None
    file_search_store: str | None = None
    page_number: int | None = None
    media_id: str | None = None


class WebChunk(ClosedDocument):
    domain: str | None = None
    title: str | None = None
    uri: str | None = None


class GroundingChunk(ClosedDocument):
    image: ImageChunk | None = None
    maps: MapsChunk | None = None
    retrieved_context: RetrievedContext | None = None
    web: WebChunk | None = None


class Segment(ClosedDocument):
    start_index: int | None = None
    end_index: int | None = None
    part_index: int | None = None
    text: str | None = None


class GroundingSupport(ClosedDocument):
    confidence_scores: list[float] | None = None
    grounding_chunk_indices: list[int] | None = None
    segment: Segment | None = None
    rendered_parts: list[int] | None = None


class RetrievalMetadata(ClosedDocument):
    google_search_dynamic_retrieval_score: float | None = None


class SearchEntryPoint(ClosedDocument):
    rendered_content: str | None = None
    sdk_blob: Base64 | None = None


class FlaggingUri(ClosedDocument):
    flag_content_uri: str | None = None
    source_id: str | None = None


class GroundingMetadata(ClosedDocument):
    image_search_queries: list[str] | None = None
    grounding_chunks: list[GroundingChunk] | None = None
    grounding_supports: list[GroundingSupport] | None = None
    retrieval_metadata: RetrievalMetadata | None = None
    search_entry_point: SearchEntryPoint | None = None
    web_search_queries: list[str] | None = None
    google_maps_widget_context_token: str | None = None
    retrieval_queries: list[str] | None = None
    source_flagging_uris: list[FlaggingUri] | None = None


class ModalityTokenCount(ClosedDocument):
    modality: str | None = None
    token_count: int | None = None


class UsageMetadata(ClosedDocument):
    cache_tokens_details: list[ModalityTokenCount] | None = None
    cached_content_token_count: int | None = None
    candidates_token_count: int | None = None
    candidates_tokens_details: list[ModalityTokenCount] | None = None
    prompt_token_count: int | None = None
    prompt_tokens_details: list[ModalityTokenCount] | None = None
    thoughts_token_count: int | None = None
    tool_use_prompt_token_count: int | None = None
    tool_use_prompt_tokens_details: list[ModalityTokenCount] | None = None
    total_token_count: int | None = None
    traffic_type: str | None = None
