// How often copies are right before a text has shown it: shares of right tokens, given that those before them
// in the draft were right, as counted over 2,732 answers of SmolLM2-135M to public-domain and free texts.
#pragma once

namespace mtp {

constexpr int kCopyLengths = 7;   // 0, 1, 2, 3, 4-7, 8-15, 16 and more tokens that agreed
constexpr int kCopyDepths = 6;    // 1st to 4th token of a draft, 5th to 8th, later ones
constexpr int kCopyOutcomes = 3;  // nothing of the last draft was right, some, all

// First tokens, by how the last draft fared.
constexpr float kFirstSuffix[kCopyLengths][kCopyOutcomes] = {
    {0.05f, 0.05f, 0.05f}, {0.41f, 0.48f, 0.51f}, {0.53f, 0.65f, 0.59f}, {0.64f, 0.61f, 0.64f},
    {0.70f, 0.63f, 0.87f}, {0.80f, 0.45f, 0.91f}, {0.88f, 0.80f, 0.97f}};
// The same where different tokens have followed the match before.
constexpr float kFirstAmbiguous[kCopyLengths][kCopyOutcomes] = {
    {0.05f, 0.05f, 0.05f}, {0.08f, 0.09f, 0.11f}, {0.13f, 0.14f, 0.13f}, {0.18f, 0.20f, 0.15f},
    {0.35f, 0.25f, 0.28f}, {0.40f, 0.40f, 0.32f}, {0.50f, 0.50f, 0.43f}};
constexpr float kFirstSource[kCopyLengths][kCopyOutcomes] = {
    {0.07f, 0.22f, 0.13f}, {0.77f, 0.94f, 0.62f}, {0.96f, 0.80f, 0.85f}, {0.90f, 0.87f, 0.87f},
    {0.93f, 0.93f, 0.93f}, {0.94f, 0.94f, 0.94f}, {0.97f, 0.97f, 0.97f}};

// Later tokens, by depth from the second on.
constexpr float kLaterSuffix[kCopyLengths][kCopyDepths - 1] = {
    {0.40f, 0.70f, 0.75f, 0.83f, 0.90f}, {0.63f, 0.75f, 0.81f, 0.87f, 0.93f},
    {0.69f, 0.80f, 0.84f, 0.89f, 0.93f}, {0.71f, 0.80f, 0.82f, 0.87f, 0.94f},
    {0.85f, 0.87f, 0.90f, 0.92f, 0.95f}, {0.92f, 0.93f, 0.94f, 0.94f, 0.96f},
    {0.97f, 0.97f, 0.97f, 0.97f, 0.98f}};
constexpr float kLaterAmbiguous[kCopyLengths][kCopyDepths - 1] = {
    {0.40f, 0.70f, 0.74f, 0.83f, 0.90f}, {0.40f, 0.70f, 0.74f, 0.83f, 0.90f},
    {0.49f, 0.68f, 0.68f, 0.84f, 0.90f}, {0.62f, 0.70f, 0.75f, 0.85f, 0.92f},
    {0.65f, 0.75f, 0.80f, 0.87f, 0.92f}, {0.80f, 0.85f, 0.90f, 0.93f, 0.95f},
    {0.90f, 0.90f, 0.90f, 0.95f, 0.96f}};
constexpr float kLaterSource[kCopyLengths][kCopyDepths - 1] = {
    {0.80f, 0.88f, 0.92f, 0.94f, 0.95f}, {0.92f, 0.93f, 0.94f, 0.94f, 0.95f},
    {0.95f, 0.95f, 0.95f, 0.95f, 0.95f}, {0.95f, 0.95f, 0.95f, 0.95f, 0.95f},
    {0.94f, 0.94f, 0.95f, 0.95f, 0.96f}, {0.95f, 0.95f, 0.96f, 0.96f, 0.96f},
    {0.96f, 0.97f, 0.96f, 0.96f, 0.97f}};

}  // namespace mtp
